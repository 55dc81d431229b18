import type pg from 'pg';

/** Gives every answer on the connection a limit of its own, for work that takes longer than its pool is meant for. */
export function withAnswerLimit(client: pg.ClientBase, limitMs: number): pg.ClientBase {
  return new Proxy(client, {
    get(target, name) {
      if (name !== 'query') return Reflect.get(target, name, target);
      return (question: unknown, ...rest: readonly unknown[]) =>
        Reflect.apply(target.query, target, [limited(question, limitMs), ...rest]);
    },
  });
}

/** `query_timeout` is the driver's limit of one query. A COPY is a stream and must stay the object that it is. */
function limited(question: unknown, limitMs: number): unknown {
  if (typeof question === 'string') return { text: question, query_timeout: limitMs };
  if (typeof question !== 'object' || question === null) return question;
  if ('submit' in question) return Object.assign(question, { query_timeout: limitMs });
  return { ...question, query_timeout: limitMs };
}
