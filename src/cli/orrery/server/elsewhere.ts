/** Which part of what the server holds is judged at another place: mailboxes are pictures of what lives in a cluster. */
import { IN_MAILBOX } from '../../../apimachinery/placement.ts'
import type { Elsewhere } from '../../../apiserver/admission/elsewhere.ts'
import { systemUser } from '../../../apiserver/registry/context.ts'
import { CARRIERS } from '../../../controllers/carriers.ts'

export const elsewhere: Elsewhere = { users: new Set(CARRIERS.map(systemUser)), paths: IN_MAILBOX }
