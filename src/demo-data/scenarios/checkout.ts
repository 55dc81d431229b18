/** A shop's checkout assistant: a tool loop, checks beside each other, a streamed answer after some thought. */
import { DEMO_CLIENTS, type DemoRun } from '../scenario.ts';

export const checkout: DemoRun = {
  traceId: 'demo-checkout-4471',
  hoursAgo: 2.4,
  client: DEMO_CLIENTS.aiSdk,
  metadata: { Environment: 'demo', Feature: 'checkout', Team: 'storefront', 'User-Id': 'u-amara-okafor' },
  system:
    'You help customers of Alder & Finch, a shop for outdoor gear, to finish their order. Use the tools for stock, delivery and vouchers; never promise a date that a tool did not give.',
  tools: [
    { name: 'read_cart', about: 'The items in the cart', takes: ['cart_id'] },
    { name: 'check_stock', about: 'How many of an article are in stock', takes: ['sku'] },
    { name: 'quote_delivery', about: 'Delivery dates and prices', takes: ['postcode', 'weight_g'] },
  ],
  nodes: [
    {
      step: 'understand the order',
      nodes: [
        {
          call: 'read the cart',
          model: 'gpt-5.4-mini',
          ask: 'Can I still get the tent and the two sleeping mats by Friday? Cart C-4471, postcode 50667.',
          use: [{ tool: 'read_cart', input: { cart_id: 'C-4471' } }],
          tokens: { in: 640, cached: 1_024, out: 48 },
        },
        {
          call: 'what is asked',
          model: 'gpt-5.4-mini',
          results: ['[{"sku":"TENT-2P-GRN","count":1,"weight_g":2350},{"sku":"MAT-R4","count":2,"weight_g":480}]'],
          say: 'The customer wants one two-person tent and two R4 mats delivered to 50667 by Friday.',
          tokens: { in: 730, cached: 1_024, out: 52 },
        },
      ],
    },
    {
      step: 'check',
      parallel: true,
      nodes: [
        {
          call: 'stock of the tent',
          model: 'gpt-5.4-mini',
          ask: 'Is TENT-2P-GRN in stock?',
          say: 'TENT-2P-GRN: 14 in Cologne.',
          tokens: { in: 410, cached: 1_024, out: 22 },
        },
        {
          call: 'stock of the mats',
          model: 'gpt-5.4-mini',
          ask: 'Are two of MAT-R4 in stock?',
          say: 'MAT-R4: 1 in Cologne, 9 in Leipzig. Two can leave together from Leipzig.',
          tokens: { in: 415, cached: 1_024, out: 31 },
        },
        {
          call: 'delivery',
          model: 'gpt-5.4-mini',
          failsFirst: ['rate_limit'],
          ask: 'Quote delivery of 3310 g to 50667.',
          say: 'Standard: Saturday, 4.90 EUR. Express: Thursday, 11.90 EUR.',
          tokens: { in: 432, cached: 1_024, out: 36 },
        },
      ],
    },
    {
      step: 'answer',
      nodes: [
        {
          call: 'write the answer',
          model: 'gpt-5.4',
          stream: true,
          ask: 'Tell the customer what is possible by Friday. Tent: Cologne. Mats: Leipzig. Standard arrives on Saturday, express on Thursday for 11.90 EUR.',
          think:
            'Friday is only met by express. The parcel from Leipzig takes a day longer, so both must go as express. I should name the price and offer the cheaper choice too.',
          say: 'Yes, it works with **express delivery (11.90 EUR)**: the tent leaves from Cologne and both mats from Leipzig, and everything is with you on Thursday.\n\nStandard delivery (4.90 EUR) would arrive on Saturday, a day too late for your trip. Shall I switch the order to express?',
          tokens: { in: 980, cached: 2_048, out: 610, thought: 420 },
        },
      ],
    },
  ],
};
