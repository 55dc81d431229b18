/** Alerts: what somebody is told of, where to, and what was sent. */
import { queryOptions } from '@tanstack/react-query';
import type { ApiAnswer } from '../../../src/control/admin/api-types.ts';
import type { Measure } from '../../../src/control/alerts/alert-question.ts';
import { getJson, sendJson } from './client.ts';

export type Alert = ApiAnswer<'get', '/alerts'>['data'][number];
export type Destination = ApiAnswer<'get', '/alert-destinations'>['data'][number];
export type Delivery = ApiAnswer<'get', '/alert-deliveries'>['data'][number];

export const ALERTS_KEY = ['alerts'] as const;
const SHOWN_DELIVERIES = 50;

export const alertsQuery = queryOptions({
  queryKey: [...ALERTS_KEY, 'list'],
  queryFn: ({ signal }) => getJson('/alerts', {}, signal),
});

export const destinationsQuery = queryOptions({
  queryKey: [...ALERTS_KEY, 'destinations'],
  queryFn: ({ signal }) => getJson('/alert-destinations', {}, signal),
});

export const deliveriesQuery = queryOptions({
  queryKey: [...ALERTS_KEY, 'deliveries'],
  queryFn: ({ signal }) => getJson('/alert-deliveries', { limit: SHOWN_DELIVERIES }, signal),
});

export type AlertPreview = ApiAnswer<'post', '/alerts/preview'>;

export interface Question {
  readonly about: 'calls' | 'runs';
  readonly filters: readonly string[];
  readonly measure: Measure;
  readonly window_seconds: number;
  readonly threshold: string;
}

export interface NewAlert {
  readonly name: string;
  readonly kind: Alert['kind'];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly destinations: readonly number[];
}

export const createAlert = (alert: NewAlert) => sendJson('post', '/alerts', {}, alert);
export const deleteAlert = (id: number) => sendJson('delete', '/alerts/{id}', { id });
export const switchAlert = (id: number, isOn: boolean) => sendJson('patch', '/alerts/{id}', { id }, { is_on: isOn });
export const previewQuestion = (question: Question) => sendJson('post', '/alerts/preview', {}, question);

export type NewDestination =
  | { readonly kind: 'webhook' | 'slack'; readonly name: string; readonly url: string }
  | { readonly kind: 'email'; readonly name: string; readonly to: readonly string[] };

export const createDestination = (destination: NewDestination) =>
  sendJson('post', '/alert-destinations', {}, destination);
export const deleteDestination = (id: number) => sendJson('delete', '/alert-destinations/{id}', { id });
export const testDestination = (id: number) => sendJson('post', '/alert-destinations/{id}/test', { id });
