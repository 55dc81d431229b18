/** What `doctor` says of what is paused, and of alerts that reach nobody. Pure. */
import { z } from 'zod';
import type { Finding } from './finding.ts';

/** Of `GET /api/v1/status`; absent from older gateways. */
export const Brakes = z
  .object({ paused_runs: z.number(), paused_keys: z.number(), hits_last_hour: z.number() })
  .nullish();
export const Alerts = z
  .object({ in_trouble: z.number(), waiting: z.number(), retried: z.number(), undelivered: z.number() })
  .nullish();

const count = (number: number, one: string, several: string) => `${number} ${number === 1 ? one : several}`;

export function* judgeBrakesAndAlerts(
  brakes: z.infer<typeof Brakes>,
  alerts: z.infer<typeof Alerts>,
): Generator<Finding> {
  if (brakes != null && brakes.paused_runs + brakes.paused_keys > 0)
    yield {
      level: 'note',
      text: `brakes: ${count(brakes.paused_runs, 'run', 'runs')} and ${count(brakes.paused_keys, 'key', 'keys')} paused, whose calls are refused: tollgate brakes list --paused`,
    };
  if (alerts == null) return;
  if (alerts.in_trouble > 0)
    yield {
      level: 'problem',
      text: `alerts: ${alerts.in_trouble} could not be looked at: tollgate alerts list says why`,
    };
  if (alerts.retried > 0)
    yield {
      level: 'note',
      text: `alerts: ${count(alerts.retried, 'delivery', 'deliveries')} not taken yet, tried again: tollgate alerts deliveries says why`,
    };
  if (alerts.undelivered > 0)
    yield {
      level: 'problem',
      text: `alerts: ${count(alerts.undelivered, 'delivery', 'deliveries')} of the last day given up: tollgate alerts deliveries says why`,
    };
}
