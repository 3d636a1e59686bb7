/** Limits of this room for docs/reference/limits.md, which `npm run pages` writes. */
import { bytes, count, type Limits } from '../apimachinery/limits.ts'
import * as quantity from '../apimachinery/quantity.ts'
import * as certificates from './access/certificates.ts'
import * as quotas from './control/quotas.ts'
import * as core from './core.ts'
import * as cronJobs from './workloads/cronJobs.ts'

export const LIMITS: Limits = {
  objects: {
    'data of a ConfigMap or Secret': [
      `${bytes(core.MAX_DATA_BYTES)}, as in Kubernetes`,
      '`422 Invalid`',
      'fixed; split it',
    ],
    "names in a ResourceQuota's `spec.hard`": [
      count(quotas.MAX_NAMES),
      '`422 Invalid`. Stored objects with more may stay so',
      'fixed; several quotas',
    ],
  },
  expressions: {
    "characters of a quantity; bytes of a CronJob's schedule": [
      `${count(quantity.MAX_LENGTH)}; ${bytes(cronJobs.MAX_SCHEDULE)}`,
      '`400 BadRequest`; `422 Invalid`',
      'fixed',
    ],
  },
  access: {
    'request of a CertificateSigningRequest, in base64; its usages': [
      `${bytes(certificates.LONGEST_REQUEST)}; ${count(certificates.MOST_USAGES)}`,
      '`422 Invalid`',
      'fixed',
    ],
  },
}
