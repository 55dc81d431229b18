/** What `install()` has set up: the one mutable thing of this package. */
import type { Settings } from './settings.ts';

export const current: { settings: Settings | null } = { settings: null };
