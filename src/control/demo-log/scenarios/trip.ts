/** A deeply nested run with escaped names, a client that leaves, a picture, and a call that fails as too long. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const trip: DemoRun = {
  traceId: 'demo-trip-loire-17',
  hoursAgo: 19.6,
  client: DEMO_CLIENTS.aiSdk,
  metadata: { Environment: 'demo', Feature: 'trip-planner', Team: 'labs', 'User-Id': 'u-tomasz-wolny' },
  system: 'You plan cycling trips. Prefer small roads, trains that take bicycles, and places that dry wet clothes.',
  nodes: [
    {
      step: 'plan the trip',
      nodes: [
        {
          call: 'outline',
          model: 'gpt-5.4',
          ask: 'Three days along the Loire from Orléans, two people, May.',
          think: 'Day one to Blois, day two to Amboise, day three to Tours; about 60 km each.',
          say: 'Day 1 Orléans–Blois, day 2 Blois–Amboise, day 3 Amboise–Tours.',
          tokens: { in: 520, out: 460, thought: 310 },
        },
        {
          step: 'day {n}: {item}',
          items: ['Orléans – Blois', 'Blois – Amboise', 'Amboise – Tours'],
          nodes: [
            {
              call: 'route',
              model: 'gpt-5.4-mini',
              ask: 'Route for {item} on small roads.',
              say: 'About 58 km, almost all on the river path; one detour around a bridge that is being repaired.',
              tokens: { in: 410, out: 120 },
            },
            {
              step: 'lodging',
              nodes: [
                {
                  step: 'compare',
                  nodes: [
                    {
                      step: 'offers',
                      parallel: true,
                      nodes: [
                        {
                          call: 'guest house',
                          model: 'gpt-5.4-mini',
                          ask: 'Guest houses at the end of {item} with a shed for bicycles?',
                          say: 'Two, both with a shed; 84 and 96 EUR with breakfast.',
                          tokens: { in: 360, out: 44 },
                        },
                        {
                          call: 'camping',
                          model: 'gpt-5.4-mini',
                          ask: 'Camping at the end of {item}?',
                          say: 'One, by the river, 19 EUR for two with a tent.',
                          tokens: { in: 350, out: 30 },
                        },
                      ],
                    },
                  ],
                },
              ],
            },
          ],
        },
        {
          call: 'packing list',
          model: 'claude-haiku-4-5',
          stream: true,
          leaves: true,
          ask: 'A packing list for the three days, for two.',
          say: 'Rain jackets, two inner tubes, a pump, lights, a small lock, sun cream, a warm layer each, cash for the bakery, and the train tickets from Tours. Leave the second pair of shoes at home.',
          tokens: { in: 800, out: 120 },
        },
      ],
    },
    {
      step: 'settle the costs',
      nodes: [
        {
          step: 'read the receipt',
          parallel: true,
          nodes: [
            {
              call: 'first reader',
              model: 'gpt-5.4-mini chat',
              image: true,
              ask: 'Shop, date and total of this receipt as JSON; null for what cannot be read.',
              say: '{"shop":"Bakery Halm","date":"2026-11-26","total":"14.80"}',
              tokens: { in: 910, out: 42 },
            },
            {
              call: 'second reader',
              model: 'gemini-3.5-flash',
              image: true,
              ask: 'Shop, date and total of this receipt as JSON; null for what cannot be read.',
              say: '{"shop":"Bakery Halm","date":"2026-11-26","total":"14.80"}',
              tokens: { in: 620, out: 40 },
            },
          ],
        },
        {
          call: 'compare with the budget',
          model: 'bedrock-sonnet',
          ask: 'Both readers agree on 14.80 EUR at a bakery. Is it within the budget for meals?',
          say: 'Yes: 14.80 of 25.00 EUR for the day.',
          tokens: { in: 900, cached: 2_600, out: 50 },
        },
        {
          call: 'all receipts at once',
          model: 'bedrock-sonnet',
          ask: 'Settle the whole trip: all receipts are below. (the paste goes on for many pages)',
          fails: 'too_long',
          tokens: { in: 1, out: 1 },
        },
      ],
    },
  ],
};
