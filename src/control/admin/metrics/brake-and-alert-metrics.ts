/** Metrics of brakes and alerts. As gauges, since the database has them and not this process. */
import { gauge, type MetricDefinition } from './metric.ts';

export const BRAKES_AND_ALERTS: readonly MetricDefinition[] = [
  {
    name: 'tollgate_paused',
    help: 'Runs and keys that are paused now, in all accounts.',
    type: 'gauge',
    labels: ['scope'],
    read: ({ brakesAndAlerts: read }) =>
      read === null
        ? []
        : [
            { labels: { scope: 'run' }, value: read.brakes.pausedRuns },
            { labels: { scope: 'key' }, value: read.brakes.pausedKeys },
          ],
  },
  gauge(
    'tollgate_brake_hits_last_hour',
    'Hits of brakes within the last hour, without pauses by hand.',
    (s) => s.brakesAndAlerts?.brakes.hitsLastHour,
  ),
  gauge(
    'tollgate_alerts_in_trouble',
    'Alerts that could not be looked at the last time.',
    (s) => s.brakesAndAlerts?.alerts.inTrouble,
  ),
  gauge(
    'tollgate_alert_deliveries_waiting',
    'Deliveries of alerts that are to be sent.',
    (s) => s.brakesAndAlerts?.alerts.waiting,
  ),
  gauge(
    'tollgate_alert_deliveries_retried',
    'Of those, the ones that their receiver has not taken at least once.',
    (s) => s.brakesAndAlerts?.alerts.retried,
  ),
  gauge(
    'tollgate_alert_deliveries_undelivered',
    'Deliveries that were given up, of what was found within the last day.',
    (s) => s.brakesAndAlerts?.alerts.undelivered,
  ),
];
