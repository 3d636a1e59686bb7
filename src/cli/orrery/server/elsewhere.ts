/** Which part of what the server holds is judged at another place: mailboxes are pictures of what lives in a cluster. */

import type { Elsewhere } from '../../../apiserver/admission/elsewhere.ts'
import { systemUser } from '../../../apiserver/registry/context.ts'
import { CARRIERS } from '../../../placement/words/carriers.ts'
import { IN_MAILBOX } from '../../../placement/words/placement.ts'

export const elsewhere: Elsewhere = { users: new Set(CARRIERS.map(systemUser)), paths: IN_MAILBOX }
