/** A support agent on Anthropic's API: tools, caching, an overload, and a model that no price book knows. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const support: DemoRun = {
  traceId: 'demo-support-8120',
  hoursAgo: 5.2,
  client: DEMO_CLIENTS.anthropicPython,
  metadata: { Environment: 'demo', Feature: 'support', Team: 'care', 'User-Id': 'u-jonas-lindqvist' },
  system:
    'You answer tickets for Alder & Finch. Look things up before you answer, be brief and friendly, and hand over to a person when money above 200 EUR is moved.\n\nReturns: within 60 days, unused or faulty. Faulty goods: we pay the postage and offer repair, replacement or refund. Warranty on stoves and lamps: three years.',
  tools: [
    { name: 'find_order', about: 'An order by its number', takes: ['order_id'] },
    { name: 'read_policy', about: 'A section of the handbook', takes: ['section'] },
    { name: 'create_return', about: 'Opens a return and makes its label', takes: ['order_id', 'sku', 'reason'] },
  ],
  nodes: [
    {
      step: 'triage',
      nodes: [
        {
          call: 'classify',
          model: 'claude-haiku-4-5',
          ask: 'Ticket 8120: "My stove (order 77310) hisses and the flame goes out after a minute. Bought in September. What now?"\nAnswer with category, urgency and language.',
          say: '{"category":"faulty product","urgency":"normal","language":"en","order_id":"77310"}',
          tokens: { in: 310, wrote: 1_480, out: 34 },
        },
      ],
    },
    {
      step: 'resolve',
      nodes: [
        {
          call: 'look up the order',
          model: 'claude-sonnet-5',
          failsFirst: ['overloaded', 'overloaded'],
          ask: 'Resolve ticket 8120: the stove of order 77310 hisses and goes out after a minute.',
          say: 'I look at the order first.',
          use: [{ tool: 'find_order', input: { order_id: '77310' } }],
          tokens: { in: 180, wrote: 3_900, out: 74 },
        },
        {
          call: 'read the policy',
          model: 'claude-sonnet-5',
          results: ['{"order_id":"77310","date":"2026-09-14","items":[{"sku":"STOVE-MK3","price":"89.00"}]}'],
          use: [{ tool: 'read_policy', input: { section: 'warranty on stoves' } }],
          tokens: { in: 96, cached: 3_900, wrote: 210, out: 61 },
        },
        {
          call: 'open the return',
          model: 'claude-sonnet-5',
          results: [
            'Stoves: three years. Hissing with a dying flame is usually the valve; the whole stove is replaced.',
          ],
          think:
            'It is within the warranty and below 200 EUR, so I may open the return myself. The valve is the likely cause; replacement is what the handbook says.',
          use: [
            { tool: 'create_return', input: { order_id: '77310', sku: 'STOVE-MK3', reason: 'faulty valve, warranty' } },
          ],
          tokens: { in: 88, cached: 4_110, wrote: 190, out: 240, thought: 120 },
        },
        {
          call: 'answer the customer',
          model: 'claude-sonnet-5',
          stream: true,
          results: ['{"return_id":"R-5521","label":"https://returns.example.com/R-5521"}'],
          say: 'Hello Jonas,\n\nthat sounds like a faulty valve, and it is covered: stoves have three years of warranty. Please stop using it for now.\n\n1. Print the label: https://returns.example.com/R-5521 (we pay the postage).\n2. Send the stove without its cartridge.\n3. A new one leaves here as soon as the parcel is scanned.\n\nSorry for the cold coffee!',
          tokens: { in: 74, cached: 4_300, wrote: 260, out: 190 },
        },
      ],
    },
    {
      step: 'check quality',
      nodes: [
        {
          call: 'grade',
          model: 'own-tuned',
          ask: 'Grade the answer to ticket 8120 from 1 to 5 for correctness, tone and brevity.',
          say: '{"correctness":5,"tone":5,"brevity":4}',
          tokens: { in: 420, out: 28 },
        },
      ],
    },
  ],
};
