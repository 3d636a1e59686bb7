/**
 * The namespaces that say something about the security of pods. The others, nearly all, cost a look into a map: they are not
 * even parsed.
 */

import { NAMESPACES } from '../../../apimachinery/resources.ts'
import type { Nature } from '../../../placement/spaces/nature.ts'
import type { Store } from '../../../storage/store.ts'
import { ConfigurationLog } from '../configurationLog.ts'
import { type Labels, speaksOfPodSecurity } from './policy.ts'

interface LabelledNamespacesDeps {
  store: Pick<Store, 'project'>
  /** Nature of the Namespaces: labels of some are meant for another place. */
  nature: Pick<Nature, 'acts'>
}

export class LabelledNamespaces {
  readonly #log: ConfigurationLog

  constructor({ store, nature }: LabelledNamespacesDeps) {
    this.#log = new ConfigurationLog({
      store,
      resources: [NAMESPACES],
      mark: 'pod-security.kubernetes.io/',
      ignores: namespace => !speaksOfPodSecurity(namespace.metadata.labels),
      nature,
    })
  }

  /** The acting objects of a space have changed. */
  rethink(space: string): void {
    this.#log.rethink(space)
  }

  /** `undefined` when the namespace says nothing. */
  labels(space: string, namespace: string): Labels {
    return this.#log.get(space, NAMESPACES, '', namespace)?.metadata.labels
  }
}
