/** Which part of what the server holds is judged at another place: mailboxes are pictures of what lives in a cluster. */
import { isInMailbox } from '../apimachinery/placement.ts'
import type { Elsewhere } from '../apiserver/admission/elsewhere.ts'
import { systemUser } from '../apiserver/registry/context.ts'
import { CARRIERS } from '../controllers/carriers.ts'

const carriers: ReadonlySet<string> = new Set(CARRIERS.map(systemUser))

export const elsewhere: Elsewhere = {
  judges: (user, path) => carriers.has(user) || isInMailbox(path),
}
