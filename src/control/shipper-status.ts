/** The shipper's numbers as the API shows them. */
import type { ShipperStats } from '../shipper/shipper.ts';
import type { JsonValue } from '../token-usage.ts';

export function formatShipperStatus(stats: ShipperStats | null): JsonValue {
  if (stats === null) return null;
  return {
    rows: stats.rows,
    sanitised: stats.sanitised,
    quarantined: stats.quarantined,
    interrupted: stats.interrupted,
    corrupt_bytes: stats.corruptBytes,
    waiting_for: stats.waitingFor,
    drained_at: stats.drainedAtMs === null ? null : new Date(stats.drainedAtMs).toISOString(),
    directories: stats.directories,
    broken_directories: stats.brokenDirectories,
  };
}
