/** A logger for tests: it keeps the messages, so that a test can say which ones are expected. */
import type { SpoolLog } from '../../src/spool/spool-log.ts';

export interface QuietLog extends SpoolLog {
  readonly messages: string[];
}

export function quietLog(): QuietLog {
  const messages: string[] = [];
  return {
    messages,
    warn: (_fields, message) => void messages.push(message),
    error: (_fields, message) => void messages.push(message),
  };
}
