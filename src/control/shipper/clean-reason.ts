/**
 * The reason of a refused record without values of clients, which PostgreSQL quotes in it. The text ends at the first
 * quotation, which stays when it is a column's name; what follows cannot be told from a value.
 */
import { isLogColumn } from '../store/log-columns.ts';

const MAX_REASON_CHARACTERS = 300;
const OWN_NAME = /^(?:llm|ingest|cost|metadata|numeric|gateway)_[a-z0-9_]{1,60}$/;

export function cleanReason(reason: string): string {
  return reason
    .replace(/\p{C}/gu, ' ')
    .replace(/"([^"]*)"?.*$/s, (_rest, name: string) => (isOwnName(name) ? `"${name}" …` : '"…"'))
    .slice(0, MAX_REASON_CHARACTERS)
    .toWellFormed();
}

function isOwnName(name: string): boolean {
  return isLogColumn(name) || OWN_NAME.test(name);
}
