/** The worker beside the Run page: parses the calls and builds the tree, so that the page's own thread stays free. */
import type { RunCallsBody } from '../../../../src/control/admin/run-call-bodies.ts';
import type { FromTreeWorker, ToTreeWorker } from './create-tree-worker.ts';
import { createRunModel } from './model/run-model.ts';
import { listBuffers } from './model/run-table.ts';

/** Calls that arrive one by one make one new table together. */
const REBUILD_MS = 250;

const model = createRunModel();
let isFolded = true;
let timer: ReturnType<typeof setTimeout> | undefined;
let builtAtMs = Number.NEGATIVE_INFINITY;

function send(message: FromTreeWorker, buffers: readonly ArrayBuffer[] = []): void {
  postMessage(message, { transfer: [...buffers] });
}

function build(): void {
  clearTimeout(timer);
  timer = undefined;
  const table = model.build(isFolded);
  builtAtMs = performance.now();
  send({ type: 'table', table }, listBuffers(table));
}

function buildSoon(): void {
  timer ??= setTimeout(() => guard(build), Math.max(0, builtAtMs + REBUILD_MS - performance.now()));
}

function guard(work: () => void): void {
  try {
    work();
  } catch (error) {
    send({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
}

function addPage(bytes: ArrayBuffer): void {
  const page: RunCallsBody = JSON.parse(new TextDecoder().decode(bytes));
  model.addPage(page);
  send({ type: 'page', nextCursor: page.next_cursor, position: page.position });
  buildSoon();
}

function addEvent(name: string, data: string): void {
  if (name === 'open') model.setOpenCalls(JSON.parse(data));
  else model.addCalls(JSON.parse(data).columns);
  buildSoon();
}

addEventListener('message', ({ data }: MessageEvent<ToTreeWorker>) => {
  guard(() => {
    if (data.type === 'page') addPage(data.bytes);
    else if (data.type === 'event') addEvent(data.name, data.data);
    else {
      isFolded = data.isFolded;
      // Without calls there is nothing to show yet.
      if (builtAtMs > 0) build();
    }
  });
});
