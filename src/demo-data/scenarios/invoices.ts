/** A run that fails: the last step sends more than the model takes, and nothing comes after it. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const invoices: DemoRun = {
  traceId: 'demo-invoices-2026-11',
  hoursAgo: 1.3,
  client: DEMO_CLIENTS.boto,
  metadata: { Environment: 'demo', Feature: 'invoices', Team: 'finance', 'User-Id': 'u-priya-raman' },
  system: 'You compare supplier invoices with orders and list what does not agree.',
  nodes: [
    {
      step: 'collect',
      nodes: [
        {
          step: 'supplier {n}',
          items: ['Fjellvev', 'Kupferle', 'Ostrava Zips', 'Sierra Poles'],
          beside: 2,
          nodes: [
            {
              call: 'extract lines',
              model: 'bedrock-nova',
              ask: 'Extract the lines of the invoices of {item} as JSON.',
              say: '[{"order":"P-118","amount":"1240.00"},{"order":"P-121","amount":"310.50"}]',
              tokens: { in: 5_200, out: 380 },
            },
            {
              call: 'compare',
              model: 'bedrock-sonnet',
              ask: 'Compare these lines of {item} with the orders P-118 and P-121.',
              say: '{item}: all lines agree, one rounding difference of 0.01 EUR.',
              tokens: { in: 900, cached: 2_600, out: 150 },
            },
          ],
        },
      ],
    },
    {
      step: 'reconcile the month',
      nodes: [
        {
          call: 'all suppliers at once',
          model: 'bedrock-sonnet',
          ask: 'Reconcile the whole month: all invoices, all orders, all payments are below. (the paste goes on for many pages)',
          fails: 'too_long',
          tokens: { in: 1, out: 1 },
        },
      ],
    },
  ],
};
