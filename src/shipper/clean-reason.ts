/**
 * The reason for which a record was put aside as people may see it: PostgreSQL quotes the values that it does not like,
 * and those are the clients'. So it ends with the first thing that is quoted, which stays when it is a name of ours: a
 * value may have quotes in it, and behind one nobody knows what is a value.
 */
import { LLM_REQUEST_COLUMNS } from '../store/llm-request-row.ts';

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
  return Object.hasOwn(LLM_REQUEST_COLUMNS, name) || OWN_NAME.test(name);
}
