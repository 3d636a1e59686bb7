/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */
import { bytes, count, type Limits } from '../apimachinery/limits.ts'
import * as commitTurns from './commitTurns.ts'
import * as journaledStore from './journaledStore.ts'
import * as storeView from './storeView.ts'

export const LIMITS: Limits = {
  requests: {
    'what a write makes of rows, with what it replaces, that takes turns before the disk; of these in one commit': [
      `${bytes(commitTurns.TURN_BYTES)}; ${bytes(commitTurns.ROOM_BYTES)}, or one of them`,
      'those of all tenants and their spaces take turns; short writes do not wait for it',
      'fixed',
    ],
    'unread events of one watcher': [
      `${count(storeView.WATCHER_BACKLOG)} events or ${bytes(storeView.WATCHER_BACKLOG_BYTES)}`,
      'an event `ERROR` with `410 Expired`, and the watch ends',
      'fixed; clients list again',
    ],
    history: [
      `${journaledStore.HISTORY_AGE_MS / 60_000} minutes`,
      '`410 Expired`; clients list again',
      '`--history-minutes`',
    ],
  },
}
