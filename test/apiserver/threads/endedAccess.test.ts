import t from 'tap'
import { endedAccess } from '../endedAccess.ts'

await endedAccess(t, 2)
