/** Looks whether another node has changed the keys, as long as the process lives. A database that is away is no news. */
import type { Logger } from 'pino';
import { isDatabaseDown } from '../admin/api-error.ts';
import type { KeyPublisher } from './key-publisher.ts';
import { type Repeating, repeat } from './repeat.ts';

const KEY_POLL_MS = 500;

export function repeatKeys(keys: KeyPublisher, log: Logger): Repeating {
  return repeat(async () => {
    try {
      await keys.poll();
    } catch (error) {
      if (!isDatabaseDown(error)) log.error({ err: error }, 'the keys could not be read');
    }
    return KEY_POLL_MS;
  });
}
