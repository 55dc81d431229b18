/** A panel beside a list: not modal, closed with Escape; the focus goes back to where it came from. */
import { X } from 'lucide-react';
import { type ReactNode, useEffect, useRef } from 'react';
import { IconButton } from './buttons.tsx';

interface SidePanelProps {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
}

export function SidePanel({ label, onClose, children, actions }: SidePanelProps) {
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      // An open dialog or menu takes its own Escape first.
      if (event.key === 'Escape' && !event.defaultPrevented) close.current();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return (
    <aside
      aria-label={label}
      className="flex w-[min(34rem,48%)] shrink-0 flex-col overflow-hidden border-t border-l border-line bg-panel max-lg:fixed max-lg:inset-0 max-lg:z-30 max-lg:w-full"
    >
      <div className="flex items-center gap-1 border-b border-line px-3 py-1.5">
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">{label}</h2>
        {actions}
        <IconButton label="Close (Escape)" onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <div className="min-h-0 flex-1 overflow-auto">{children}</div>
    </aside>
  );
}
