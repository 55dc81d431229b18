import { expect, test } from 'vitest';
import { nameRepository } from './git-metadata.ts';

test.each([
  ['git@example.com:team/shop.git', 'team/shop'],
  ['https://user:secret@example.com/team/shop.git', 'team/shop'],
  ['https://example.com/group/team/shop', 'team/shop'],
  ['ssh://git@example.com:22/team/shop/', 'team/shop'],
  ['/srv/git/shop.git', 'git/shop'],
  [null, 'here'],
])('the repository of %s is %s', (remote, name) => {
  expect(nameRepository(remote, '/home/a/here')).toBe(name);
});
