/** Progress on one redrawn line, at a terminal only. */
import type { ReadSoFar } from '../../control/backup/describe-backup.ts';
import { terminalText } from '../terminal-text.ts';
import { formatMib } from './format-backup.ts';

const INTERVAL_MS = 200;

export interface Ticker {
  readonly show: (soFar: ReadSoFar) => void;
  readonly clear: () => void;
}

export function createTicker(stream: NodeJS.WriteStream): Ticker {
  let shownMs = Number.NEGATIVE_INFINITY;
  return {
    show({ table, rows, bytes }) {
      if (!stream.isTTY || performance.now() - shownMs < INTERVAL_MS) return;
      shownMs = performance.now();
      stream.write(`\r\u001b[K${rows} rows, ${formatMib(bytes)}  ${terminalText(table)}`);
    },
    clear() {
      if (stream.isTTY && Number.isFinite(shownMs)) stream.write('\r\u001b[K');
    },
  };
}
