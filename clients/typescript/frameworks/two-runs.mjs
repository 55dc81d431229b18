/** What each program here does: the same work in two runs side by side, with no address, header or key of Tollgate in it. */
import { run } from '../src/index.ts';

export async function inTwoRuns(work) {
  await Promise.all(['x', 'y'].map((id) => run(id, work)));
}
