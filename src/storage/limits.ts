/** Defaults of docs/reference/limits.md, from the constants of this room. `npm run pages` writes them there. */
import { bytes, count, type Limits } from '../apimachinery/limits.ts'
import * as commitTurns from './commitTurns.ts'
import * as journaledStore from './journaledStore.ts'
import * as storeView from './storeView.ts'

export const LIMITS: Limits = {
  'what a write makes of rows, with what it replaces, that takes turns before the disk; of these in one commit': `${bytes(commitTurns.TURN_BYTES)}; ${bytes(commitTurns.ROOM_BYTES)}, or one of them`,
  'unread events of one watcher': `${count(storeView.WATCHER_BACKLOG)} events or ${bytes(storeView.WATCHER_BACKLOG_BYTES)}`,
  history: `${journaledStore.HISTORY_AGE_MS / 60_000} minutes`,
}
