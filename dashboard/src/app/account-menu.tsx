/** Who is signed in, in which account: to change the account where there are several, and one's own password. */
import { Menu } from '@base-ui/react/menu';
import { useQuery } from '@tanstack/react-query';
import { Building2, KeyRound, UserRound } from 'lucide-react';
import { useState } from 'react';
import { accountsQuery, chooseAccount } from '../api/session.ts';
import { buttonClass } from '../components/buttons.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import { useSession } from './session-context.tsx';

const ITEM =
  'flex items-center gap-2 rounded px-2 py-1.5 outline-none data-[highlighted]:bg-raised aria-checked:text-accent cursor-default';

/** Nothing for the operator of the only account, who needs neither. */
export function AccountMenu() {
  const session = useSession();
  const hasChoice = session.accounts > 1;
  const { data } = useQuery({ ...accountsQuery, enabled: hasChoice });
  const [isPasswordOpen, setPasswordOpen] = useState(false);
  if (!hasChoice && session.kind === 'operator') return null;
  const hasPassword = session.kind === 'person' && session.sign_out_url === null;
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className={buttonClass('quiet')} aria-label={`Account ${session.account.name}`}>
          <Building2 size={15} aria-hidden />
          <span className="max-w-40 truncate max-sm:hidden">{session.account.name}</span>
        </Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner sideOffset={6} align="end" className="z-40">
            <Menu.Popup className="max-h-[70dvh] min-w-52 overflow-auto rounded-lg border border-line bg-panel p-1 shadow-lg">
              <p className="flex items-center gap-2 px-2 py-1.5 text-xs text-ink-soft">
                <UserRound size={14} aria-hidden />
                {session.kind === 'operator' ? 'Operator' : `${session.name}, ${session.role}`}
              </p>
              {hasChoice && (
                <Menu.RadioGroup value={session.account.id}>
                  {(data?.data ?? []).map(({ id, name }) => (
                    <Menu.RadioItem key={id} value={id} className={ITEM} onClick={() => chooseAccount(id)}>
                      <Building2 size={15} aria-hidden /> {name}
                    </Menu.RadioItem>
                  ))}
                </Menu.RadioGroup>
              )}
              {hasPassword && (
                <Menu.Item className={ITEM} onClick={() => setPasswordOpen(true)}>
                  <KeyRound size={15} aria-hidden /> {session.has_password ? 'Change password' : 'Set a password'}
                </Menu.Item>
              )}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      {isPasswordOpen && <PasswordDialog hasPassword={session.has_password} onClose={() => setPasswordOpen(false)} />}
    </>
  );
}
