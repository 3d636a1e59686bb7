/** Defaults of docs/reference/limits.md, from the constants of this room. `npm run pages` writes them there. */
import { bytes, count, type Limits } from '../apimachinery/limits.ts'
import * as quantity from '../apimachinery/quantity.ts'
import * as certificates from './access/certificates.ts'
import * as quotas from './control/quotas.ts'
import * as core from './core.ts'
import * as cronJobs from './workloads/cronJobs.ts'

export const LIMITS: Limits = {
  'data of a ConfigMap or Secret': `${bytes(core.MAX_DATA_BYTES)}, as in Kubernetes`,
  "names in a ResourceQuota's `spec.hard`": count(quotas.MAX_NAMES),
  "characters of a quantity; bytes of a CronJob's schedule": `${count(quantity.MAX_LENGTH)}; ${bytes(cronJobs.MAX_SCHEDULE)}`,
  'request of a CertificateSigningRequest, in base64; its usages': `${bytes(certificates.LONGEST_REQUEST)}; ${count(certificates.MOST_USAGES)}`,
}
