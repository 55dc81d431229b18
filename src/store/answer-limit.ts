/** For work that may take longer than what the connection's pool is meant for. */
import type pg from 'pg';

/** The same connection, on which every answer may take so long. */
export function withAnswerLimit(client: pg.ClientBase, limitMs: number): pg.ClientBase {
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name, target);
      return (question: unknown, ...rest: readonly unknown[]) =>
        Reflect.apply(target.query, target, [limited(question, limitMs), ...rest]);
    },
  });
}

/** The driver's name for the limit of one query. A COPY is a stream, and stays the one that it is. */
function limited(question: unknown, limitMs: number): unknown {
  if (typeof question === 'string') return { text: question, query_timeout: limitMs };
  if (typeof question !== 'object' || question === null) return question;
  if ('submit' in question) return Object.assign(question, { query_timeout: limitMs });
  return { ...question, query_timeout: limitMs };
}
