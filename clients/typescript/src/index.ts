/** Leads calls of language models through a Tollgate gateway, and says which run and step each belongs to. */
export { baseUrl, headers } from './headers.ts';
export { install, uninstall } from './install.ts';
export { carry, type Metadata, run, step } from './place.ts';
export type { InstallOptions } from './settings.ts';
