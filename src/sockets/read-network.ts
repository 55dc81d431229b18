/** Networks as people write them: an address, or a range in CIDR form. */
import { isIP } from 'node:net';

/** As `<address>/<bits>`; null when the text is neither. */
export function readNetwork(text: string): string | null {
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(text.trim().toLowerCase()) ?? [];
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  return family === 0 || Number(bits ?? most) > most ? null : `${address}/${bits ?? most}`;
}
