/** Effects of `approval` and `status` on a CertificateSigningRequest. */
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { has, record, records } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { carryOver } from '../kind.ts'
import type { SubresourceStrategy } from '../strategy.ts'

/** `/status` leaves them as they are, whatever it says of them. */
const APPROVALS: readonly unknown[] = ['Approved', 'Denied']

/** `validateConditions`: errors of what an approval leaves. */
export function certificateParts(
  validateConditions: (object: KubeObject, old: KubeObject) => FieldError[],
): Readonly<Record<string, SubresourceStrategy>> {
  return {
    approval: {
      prepareForUpdate(object, old) {
        const { conditions } = record(object, 'status')
        carryOver(object, old, 'spec')
        const { conditions: _, ...kept } = record(old, 'status')
        object.status = { ...kept, ...(conditions !== undefined && { conditions }) }
      },
      validateUpdate: validateConditions,
      narrow(configuration) {
        const { conditions } = record(configuration, 'status')
        delete configuration.spec
        configuration.status = conditions === undefined ? {} : { conditions }
      },
    },
    status: {
      prepareForUpdate(object, old) {
        if (!has(object, 'status', 'conditions')) return
        const before = records(old, 'status', 'conditions')
        record(object, 'status').conditions = records(object, 'status', 'conditions').map(condition =>
          APPROVALS.includes(condition.type)
            ? (before.find(({ type }) => type === condition.type) ?? condition)
            : condition,
        )
      },
    },
  }
}
