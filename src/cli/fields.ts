/** Fields of API records for display, safe for the terminal. */
import { type PicoUsd, parseUsd } from '../vocabulary/usd.ts';
import type { ApiRecord } from './gateway-client.ts';
import { terminalText } from './terminal-text.ts';

export function textField(record: ApiRecord, name: string): string {
  const value = record[name];
  return value === null || value === undefined
    ? ''
    : terminalText(typeof value === 'string' ? value : JSON.stringify(value));
}

export function numberField(record: ApiRecord, name: string): number | null {
  const value = record[name];
  return typeof value === 'number' ? value : null;
}

export function moneyField(record: ApiRecord, name: string): PicoUsd | null {
  const value = record[name];
  return typeof value === 'string' ? parseUsd(value) : null;
}

export function inputTokens(record: ApiRecord): number | null {
  const parts = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'].map((name) =>
    numberField(record, name),
  );
  return parts.every((part) => part === null) ? null : parts.reduce<number>((sum, part) => sum + (part ?? 0), 0);
}

/** `2026-11-28 12:00:01.417`, in UTC; empty for null. */
export function timeField(record: ApiRecord, name: string): string {
  return textField(record, name).replace('T', ' ').replace('Z', '');
}
