/** The numbers of a gateway key and of all halves of its rotations, where only the API can be asked. */
import { z } from 'zod';
import { listFirstKeys, listHalves } from '../store/key-rotations.ts';
import { type AskApi, askJson } from './ask-api.ts';

const Keys = z.object({ data: z.array(z.object({ id: z.number(), replaced_by: z.number().nullable() })) });

export async function readKeyIds(ask: AskApi, keyId: number): Promise<readonly number[]> {
  const { data } = await askJson(ask, Keys, '/api/v1/keys');
  const firstKeys = listFirstKeys(data.map(({ id, replaced_by: replacedBy }) => ({ keyId: id, replacedBy })));
  return listHalves(firstKeys, keyId);
}
