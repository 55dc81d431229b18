/** What is paused, and whether alerts reach anybody, in all accounts; null while the database does not answer. */
import type pg from 'pg';
import { type AlertFigures, countDeliveries } from '../alerts/count-deliveries.ts';
import { type BrakeFigures, countPauses } from '../brakes/count-pauses.ts';
import { withinLimit } from './database-answer.ts';

export interface BrakeAndAlertFigures {
  readonly brakes: BrakeFigures;
  readonly alerts: AlertFigures;
}

export async function readBrakeAndAlertFigures(pool: pg.Pool | null): Promise<BrakeAndAlertFigures | null> {
  if (pool === null) return null;
  try {
    const [brakes, alerts] = await withinLimit(Promise.all([countPauses(pool), countDeliveries(pool)]));
    return { brakes, alerts };
  } catch {
    // Whether the database answers is said elsewhere.
    return null;
  }
}
