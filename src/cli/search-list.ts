/**
 * The rows of a list whose pages may end before they are full: it goes on until the limit, the end, or Ctrl-C, and says on
 * standard error how far the log was searched.
 */
import { type ApiRecord, type GatewayClient, readPages } from './gateway-client.ts';

/** Without a terminal: one line per interval. */
const LINE_INTERVAL_MS = 5_000;
const CLEAR_LINE = '\r\u001b[K';

/** After Ctrl-C the rows end; a second one ends the program. */
export async function* searchList(
  client: GatewayClient,
  path: string,
  parameters: URLSearchParams,
  limit: number,
  pageRows: number,
): AsyncGenerator<ApiRecord> {
  const { stderr } = process;
  let isInterrupted = false;
  let shownMs = performance.now();
  const onInterrupt = (): void => {
    isInterrupted = true;
  };
  process.once('SIGINT', onInterrupt);
  try {
    for await (const { data, searched_to: searchedTo } of readPages(client, path, parameters, limit, pageRows)) {
      if (stderr.isTTY) stderr.write(CLEAR_LINE);
      yield* data;
      if (typeof searchedTo !== 'string') continue;
      const text = `Searched back to ${searchedTo.slice(0, 16).replace('T', ' ')} UTC`;
      if (isInterrupted) {
        stderr.write(`${text}; what is older was not searched.\n`);
        return;
      }
      if (stderr.isTTY) stderr.write(`${text} … (Ctrl-C ends it)`);
      else if (performance.now() - shownMs > LINE_INTERVAL_MS) {
        shownMs = performance.now();
        stderr.write(`${text} …\n`);
      }
    }
  } finally {
    process.off('SIGINT', onInterrupt);
  }
}
