/** The name of the file of prices in the data directory, apart from its form: a proxy loads that when it needs it. */
export const PRICES_FILE = 'prices.json';
