import pg from 'pg';
import { expect, it } from 'vitest';
import { createPacedQuery } from './paced-query.ts';

const pool = new pg.Pool();

it('asks once for all who want to know at the same time', async () => {
  const asked: PromiseWithResolvers<number>[] = [];
  const answer = createPacedQuery(() => {
    const question = Promise.withResolvers<number>();
    asked.push(question);
    return question.promise;
  });
  const both = [answer(pool, 1), answer(pool, 1)];
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(7);
  expect(await Promise.all(both)).toEqual([7, 7]);
});

it('asks anew after a failure', async () => {
  let asked = 0;
  const answer = createPacedQuery(() => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('away')) : Promise.resolve(asked);
  });
  await expect(answer(pool, 1)).rejects.toThrow('away');
  expect(await answer(pool, 1)).toBe(2);
});
