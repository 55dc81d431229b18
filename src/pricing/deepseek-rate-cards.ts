/**
 * DeepSeek's prices: by the hour, on weekdays that are no public holiday in China, in tables that the catalogue cannot
 * combine. Of two cards in force for one class the later one in this list counts.
 */
import { createRates, matchSnapshots, type RateCard, type Triple } from './overlay-row.ts';
import type { Calendar } from './price-row.ts';

const PEAK_FROM = '2026-08-16T16:00:00Z';
const WEEKEND_FROM = '2026-08-22T16:00:00Z';
const FLASH_FROM = '2026-09-10T04:00:00Z';
/** 1 November in Beijing: until then what a model searched in a client of its kind was free. */
const SEARCH_FROM = '2026-10-31T16:00:00Z';

const BEIJING_MINUTES = 480;
const WORKDAYS = [1, 2, 3, 4, 5] as const;
const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7] as const;
/** 09:00 to 12:00 and 14:00 to 18:00 in Beijing. */
const PEAK_HOURS = [
  [540, 720],
  [840, 1080],
] as const;

/**
 * Public holidays with weekdays among them, as the State Council announced them on 2025-11-04. Those of a year that is
 * not announced yet are missing here, and count as peak: too much rather than too little. Weekends that are worked in
 * exchange stay off-peak.
 */
const HOLIDAYS = [
  { name: 'mid-autumn-2026', from: '2026-09-24T16:00:00Z', to: '2026-09-27T16:00:00Z' },
  { name: 'national-day-2026', from: '2026-09-30T16:00:00Z', to: '2026-10-07T16:00:00Z' },
] as const;

interface Schedule {
  readonly model: string;
  readonly offPeak: Triple;
  readonly peak: Triple;
  readonly from: string;
  readonly source: string;
  readonly checkedOn: string;
}

function createPeakCalendar(
  weekdays: Calendar['weekdays'],
  [fromMinute, toMinute]: readonly [number, number],
): Calendar {
  return { utcOffsetMinutes: BEIJING_MINUTES, weekdays, fromMinute, toMinute };
}

function createScheduleCards({ model, offPeak, peak, from, source, checkedOn }: Schedule): readonly RateCard[] {
  const shared = { provider: 'deepseek', match: matchSnapshots(model), source, checkedOn } as const;
  const peaks = PEAK_HOURS.flatMap((hours, index): readonly RateCard[] => {
    const weekdaysOnly: RateCard = {
      ...shared,
      name: `deepseek/${model}/peak-${index + 1}`,
      rates: createRates(peak),
      from: from < WEEKEND_FROM ? WEEKEND_FROM : from,
      calendar: createPeakCalendar(WORKDAYS, hours),
    };
    if (from >= WEEKEND_FROM) return [weekdaysOnly];
    const everyDay: RateCard = {
      ...shared,
      name: `deepseek/${model}/peak-${index + 1}@2026-08-17`,
      rates: createRates(peak),
      from,
      to: WEEKEND_FROM,
      calendar: createPeakCalendar(EVERY_DAY, hours),
    };
    return [everyDay, weekdaysOnly];
  });
  const holidays = HOLIDAYS.map(
    ({ name, ...dated }): RateCard => ({
      ...shared,
      name: `deepseek/${model}/${name}`,
      rates: createRates(offPeak),
      ...dated,
    }),
  );
  const base: RateCard = { ...shared, name: `deepseek/${model}/off-peak`, rates: createRates(offPeak), from };
  return [base, ...peaks, ...holidays];
}

const V4 = {
  from: PEAK_FROM,
  source: 'DeepSeek, models and pricing, with the notices of 2026-08-15 and 2026-08-23',
  checkedOn: '2026-08-26',
} as const;

function createV4Cards(model: string, flat: Triple, offPeak: Triple, peak: Triple): readonly RateCard[] {
  const { from: to, source, checkedOn } = V4;
  const shared = { provider: 'deepseek', match: matchSnapshots(model), source, checkedOn } as const;
  return [
    { ...shared, name: `deepseek/${model}/flat`, rates: createRates(flat), to },
    ...createScheduleCards({ ...V4, model, offPeak, peak }),
  ];
}

function createLegacyCards(model: string): readonly RateCard[] {
  const shared = {
    provider: 'deepseek',
    match: { equals: model },
    source: 'DeepSeek, models and pricing, with the notices of 2025-09-05 and 2025-09-29',
    checkedOn: '2026-08-26',
  } as const;
  return [
    {
      ...shared,
      name: `deepseek/${model}/v3.1`,
      rates: createRates(['0.56', '0.07', '1.68']),
      from: '2025-09-05T16:00:00Z',
      to: '2025-09-29T00:00:00Z',
    },
    {
      ...shared,
      name: `deepseek/${model}/v3.2`,
      rates: createRates(['0.28', '0.028', '0.42']),
      from: '2025-09-29T00:00:00Z',
      to: '2026-04-24T00:00:00Z',
    },
  ];
}

/** Searches and fetches: calls of their own, and those of a model. By the request, at every hour. */
const TOOLS: readonly RateCard[] = [
  {
    name: 'deepseek/tools',
    provider: 'deepseek',
    match: { regex: '^tools/(search|fetch)$' },
    rates: { web_search_requests: '0.75', web_fetch_requests: '0.75' },
    source: 'DeepSeek, models and pricing: web search and fetch, per successful request',
    checkedOn: '2026-11-28',
  },
  {
    name: 'deepseek/server-tools',
    provider: 'deepseek',
    match: { regex: '^deepseek-' },
    rates: { web_search_requests: '0.75', web_fetch_requests: '0.75' },
    from: SEARCH_FROM,
    source: 'DeepSeek, models and pricing: searches of a model are billed like calls of the search',
    checkedOn: '2026-11-28',
  },
];

export const DEEPSEEK_RATE_CARDS: readonly RateCard[] = [
  ...createV4Cards(
    'deepseek-v4-flash',
    ['0.14', '0.0028', '0.28'],
    ['0.22', '0.007', '0.66'],
    ['0.44', '0.014', '1.32'],
  ),
  ...createV4Cards(
    'deepseek-v4-pro',
    ['0.435', '0.003625', '0.87'],
    ['0.66', '0.022', '1.98'],
    ['1.32', '0.044', '3.96'],
  ),
  ...createScheduleCards({
    model: 'deepseek-flash',
    offPeak: ['0.15', '0.003', '0.6'],
    peak: ['0.3', '0.006', '1.2'],
    from: FLASH_FROM,
    source: 'DeepSeek, models and pricing, with the release of V4.1 Flash on 2026-09-10',
    checkedOn: '2026-11-15',
  }),
  ...createLegacyCards('deepseek-chat'),
  ...createLegacyCards('deepseek-reasoner'),
  ...TOOLS,
];
