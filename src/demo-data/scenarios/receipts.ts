/** Reading a photographed receipt: a small picture in the request, as two providers take it. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const receipts: DemoRun = {
  traceId: 'demo-receipt-0612',
  hoursAgo: 3.5,
  client: DEMO_CLIENTS.openaiNode,
  metadata: { Environment: 'demo', Feature: 'receipts', Team: 'finance', 'User-Id': 'u-elif-demir' },
  system: 'You read receipts. Reply as JSON with shop, date and total; null for what cannot be read.',
  nodes: [
    {
      step: 'read',
      parallel: true,
      nodes: [
        {
          call: 'first reader',
          model: 'gpt-5.4-mini chat',
          image: true,
          ask: 'What does this receipt say?',
          say: '{"shop":"Bakery Halm","date":"2026-11-26","total":"14.80"}',
          tokens: { in: 910, out: 42 },
        },
        {
          call: 'second reader',
          model: 'gemini-3.5-flash',
          image: true,
          ask: 'What does this receipt say?',
          say: '{"shop":"Bakery Halm","date":"2026-11-26","total":"14.80"}',
          tokens: { in: 620, out: 40 },
        },
      ],
    },
    {
      step: 'book',
      nodes: [
        {
          call: 'choose the account',
          model: 'gpt-5.4-mini chat',
          ask: 'Both readers agree on 14.80 EUR at a bakery. Which account?',
          say: 'Travel expenses, meals.',
          tokens: { in: 240, out: 12 },
        },
      ],
    },
  ],
};
