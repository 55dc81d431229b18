/** All calls of one run as they come (pages, events of the stream, in any order, also twice), and the table made of them. */
import type {
  OpenCallBody,
  RunCallColumnsBody,
  RunCallsBody,
} from '../../../../../src/control/admin/run-call-bodies.ts';
import { buildRunTree } from '../../../../../src/control/log/run-tree.ts';
import { buildRunTable } from './build-table.ts';
import { type LeafCall, readLeafCalls } from './call-columns.ts';
import { createDisplayTree } from './display-tree.ts';
import type { RunTable } from './run-table.ts';

export interface RunModel {
  readonly addPage: (page: Pick<RunCallsBody, 'columns' | 'open'>) => void;
  readonly addCalls: (columns: RunCallColumnsBody) => void;
  readonly setOpenCalls: (open: readonly OpenCallBody[]) => void;
  readonly build: (isFolded: boolean) => RunTable;
}

export function createRunModel(): RunModel {
  const calls = new Map<string, LeafCall>();
  let open: readonly OpenCallBody[] = [];
  const addCalls = (columns: RunCallColumnsBody) => {
    for (const call of readLeafCalls(columns)) calls.set(call.id, call);
  };
  return {
    addPage: (page) => {
      addCalls(page.columns);
      open = page.open;
    },
    addCalls,
    setOpenCalls: (list) => {
      open = list;
    },
    build: (isFolded) => {
      // A call's ending may be known before the list of open calls says so.
      const stillOpen = open.filter(({ id }) => !calls.has(id));
      return buildRunTable(createDisplayTree(buildRunTree(calls.values()), stillOpen, isFolded));
    },
  };
}
