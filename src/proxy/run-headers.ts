/** The run id that a header of distributed tracing gives, by the source's name in a key's `runs_from`. */
import type { HeaderReader } from '../clients/client.ts';
import { readBaggage, readTraceparent, readXrayRoot } from '../formats/wire/trace-context.ts';

const BAGGAGE = 'baggage.';

export function readRunHeader(source: string, header: HeaderReader): string | null {
  if (source === 'traceparent') return readTraceparent(header('traceparent'));
  if (source === 'x-amzn-trace-id') return readXrayRoot(header('x-amzn-trace-id'));
  if (source.startsWith(BAGGAGE)) return readBaggage(header('baggage'), source.slice(BAGGAGE.length));
  return null;
}
