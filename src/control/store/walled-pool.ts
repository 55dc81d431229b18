/**
 * A pool that asks for one account behind the wall: each transaction, and each query outside of one, is made as the role of
 * `account-wall.ts` with the account as its setting. Both hold until the transaction ends, so no pooler mixes them up.
 */
import pg from 'pg';
import { ACCOUNT_SETTING, type WallRole } from './account-wall.ts';

const BEGIN = /^\s*begin\b/i;
/** Not `rollback to savepoint`. */
const END = /^\s*(?:commit|rollback(?!\s+to))\b/i;

export interface Wall extends WallRole {
  readonly accountId: number;
}

/** `base` owns the connections; this opens none of its own, and need not be ended. */
export function openWalledPool(base: pg.Pool, wall: Wall): pg.Pool {
  return new WalledPool(base, wall);
}

class WalledPool extends pg.Pool {
  readonly #base: pg.Pool;
  readonly #enter: string;

  constructor(base: pg.Pool, { role, searchPath, accountId }: Wall) {
    super({ max: 1 });
    this.#base = base;
    this.#enter = `set local role ${role}; set local search_path = ${searchPath}; set local "${ACCOUNT_SETTING}" = '${accountId}'`;
  }

  // biome-ignore lint/suspicious/noExplicitAny: one of the driver's many signatures, of which this code has two
  override connect(): any {
    return this.#base.connect().then((client) => this.#behindWall(client));
  }

  // biome-ignore lint/suspicious/noExplicitAny: as above
  override async query(...question: any[]): Promise<any> {
    const client = await this.#base.connect();
    let failure: Error | undefined;
    try {
      return await this.#askAlone(client, question);
    } catch (error) {
      failure = error instanceof Error ? error : new Error('a query behind the wall failed', { cause: error });
      throw failure;
    } finally {
      client.release(failure);
    }
  }

  /** The caller closes the connection when it fails, which ends the transaction. */
  async #askAlone(client: pg.PoolClient, question: readonly unknown[]): Promise<unknown> {
    await client.query(`begin; ${this.#enter}`);
    const answer: unknown = await Reflect.apply(client.query, client, question);
    await client.query('commit');
    return answer;
  }

  /** The connection itself, except that all it is asked is behind the wall. */
  #behindWall(client: pg.PoolClient): pg.PoolClient {
    let isInTransaction = false;
    const ask = (...question: unknown[]): unknown => {
      const words = textOf(question[0]);
      if (BEGIN.test(words)) {
        isInTransaction = true;
        return client.query(`${words}; ${this.#enter}`);
      }
      if (END.test(words)) isInTransaction = false;
      else if (!isInTransaction) return this.#askAlone(client, question);
      return Reflect.apply(client.query, client, question);
    };
    return new Proxy(client, {
      get(target, name) {
        if (name === 'query') return ask;
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}

/** Of a question as text, or as an object with its text. */
function textOf(question: unknown): string {
  if (typeof question === 'string') return question;
  const text: unknown = typeof question === 'object' && question !== null ? Reflect.get(question, 'text') : '';
  return typeof text === 'string' ? text : '';
}
