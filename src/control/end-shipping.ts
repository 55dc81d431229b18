/** The last thing that the shipper does: what still waits goes to the database, for as long as there is time. */
import type { Logger } from 'pino';
import type { Shipper } from '../shipper/shipper.ts';

export async function endShipping(shipper: Shipper | null, drainMs: number, log: Logger): Promise<void> {
  if (shipper === null) {
    log.warn('stopped; the database was never reached, all records wait in the spool for the next start');
    return;
  }
  const isDrained = await shipper.drain(drainMs);
  const { waitingFor, directories } = shipper.stats();
  await shipper.stop();
  if (isDrained) log.info('stopped; every record is in the database');
  else log.warn({ waitingFor, directories }, 'stopped; the rest of the records wait in the spool for the next start');
}
