/** What a balancer knows of a node: asks `readyz` at a rhythm and believes what was said twice, as most of them do. */
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMES = 2;
/** A busy machine answers late; a node that is gone refuses at once. */
const ANSWER_LIMIT_MS = 5_000;

export interface WatchedNode {
  readonly name: string;
  readonly port: number;
  readonly isListed: () => boolean;
  /** Said by the operator: it gets no more calls, whatever it answers. */
  readonly takeOut: () => void;
  readonly putIn: () => void;
  /** When it was listed and when not, in order; monotonic. */
  readonly changes: readonly { readonly isListed: boolean; readonly atMs: number }[];
  readonly stop: () => void;
}

export function watchNode(name: string, port: number, everyMs: number): WatchedNode {
  const changes: { isListed: boolean; atMs: number }[] = [];
  // Mutable because it is what was heard last.
  let isUp = false;
  let others = 0;
  let isTakenOut = false;
  let isListed = false;
  let isStopped = false;

  function note(): void {
    const next = isUp && !isTakenOut;
    if (next !== isListed) changes.push({ isListed: next, atMs: performance.now() });
    isListed = next;
  }

  async function look(): Promise<void> {
    const isReady = await isNodeReady(port);
    others = isReady === isUp ? 0 : others + 1;
    if (others < TIMES) return;
    isUp = isReady;
    others = 0;
    note();
  }

  async function lookAgainAndAgain(): Promise<void> {
    while (!isStopped) {
      await look();
      await sleep(everyMs);
    }
  }

  // It waits for no answer beyond its limit, and nobody waits for it.
  void lookAgainAndAgain();
  return {
    name,
    port,
    changes,
    isListed: () => isListed,
    takeOut() {
      isTakenOut = true;
      note();
    },
    putIn() {
      isTakenOut = false;
      note();
    },
    stop() {
      isStopped = true;
    },
  };
}

function isNodeReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/readyz', timeout: ANSWER_LIMIT_MS, agent: false };
    const asked = request(options, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
