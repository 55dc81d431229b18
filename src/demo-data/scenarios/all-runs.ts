/** Every run of the demo data. Some come twice, on another day and for another person, as real ones do. */
import type { DemoRun } from '../scenario.ts';
import { catalogue } from './catalogue.ts';
import { checkout } from './checkout.ts';
import { codingAgent } from './coding-agent.ts';
import { invoices } from './invoices.ts';
import { receipts } from './receipts.ts';
import { research } from './research.ts';
import { reviews } from './reviews.ts';
import { support } from './support.ts';
import { trip } from './trip.ts';

function again(run: DemoRun, traceId: string, hoursAgo: number, userId: string): DemoRun {
  return { ...run, traceId, hoursAgo, metadata: { ...run.metadata, 'User-Id': userId } };
}

export const DEMO_RUNS: readonly DemoRun[] = [
  codingAgent,
  invoices,
  checkout,
  receipts,
  support,
  research,
  reviews,
  trip,
  catalogue,
  again(checkout, 'demo-checkout-4468', 6.9, 'u-henrik-moe'),
  again(checkout, 'demo-checkout-4402', 31.2, 'u-sofia-reyes'),
  again(support, 'demo-support-8097', 22.8, 'u-aoife-byrne'),
  again(support, 'demo-support-8041', 45.4, 'u-kofi-mensah'),
];
