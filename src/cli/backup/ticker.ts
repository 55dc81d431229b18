/** Progress on one line that is written over, for people at a terminal; anything else gets none. */
import type { ReadSoFar } from '../../backup/describe-backup.ts';
import { terminalText } from '../terminal-text.ts';
import { formatMib } from './format-backup.ts';

const INTERVAL_MS = 200;

export interface Ticker {
  readonly show: (soFar: ReadSoFar) => void;
  readonly clear: () => void;
}

/** `total`: all rows, when that is known. */
export function createTicker(stream: NodeJS.WriteStream, total: number | null = null): Ticker {
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show({ table, rows, bytes }) {
      if (!stream.isTTY || performance.now() - shownMs < INTERVAL_MS) return;
      shownMs = performance.now();
      const of = total === null ? '' : ` of ${total}`;
      stream.write(`\r\u001b[K${rows}${of} rows, ${formatMib(bytes)}  ${terminalText(table)}`);
    },
    clear() {
      if (stream.isTTY && Number.isFinite(shownMs)) stream.write('\r\u001b[K');
    },
  };
}
