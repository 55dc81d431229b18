import { copyLatin1 } from '../../formats/wire/copy-text.ts';
import { formatUsd, type PicoUsd } from '../../vocabulary/usd.ts';

/** An amount for a record. Copied, since it is put together of parts. */
export function formatFlatUsd(amount: PicoUsd): string {
  return copyLatin1(formatUsd(amount));
}
