/**
 * The namespaces that say something about the security of pods. The others, nearly all, cost a look into a map: they are not
 * even parsed when the server starts.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Store } from '../../../storage/store.ts'
import type { Logger } from '../../request/logger.ts'
import { ConfigurationLog } from '../configurationLog.ts'
import { type Labels, speaksOfPodSecurity } from './policy.ts'

export const NAMESPACES = { group: '', resource: 'namespaces' }
const MARK = 'pod-security.kubernetes.io/'

export interface LabelledNamespacesDeps {
  store: Pick<Store, 'list' | 'watch'>
  /** Namespaces whose labels are meant for another place. */
  ignores?: (namespace: KubeObject) => boolean
  log: Logger
}

export class LabelledNamespaces {
  readonly #log: ConfigurationLog

  constructor({ store, ignores, log }: LabelledNamespacesDeps) {
    this.#log = new ConfigurationLog({
      store: {
        list: async (range, options) => {
          const page = await store.list(range, options)
          return { ...page, items: page.items.filter(({ bytes }) => bytes.includes(MARK)) }
        },
        watch: (range, options) => store.watch(range, options),
      },
      resources: [NAMESPACES],
      ignores: namespace => !speaksOfPodSecurity(namespace.metadata.labels) || ignores?.(namespace) === true,
      log,
    })
  }

  /** Resolves when everything stored is known. */
  start(): Promise<void> {
    return this.#log.start()
  }

  stop(): Promise<void> {
    return this.#log.stop()
  }

  /** `undefined` when the namespace says nothing. */
  labels(space: string, namespace: string): Labels {
    return this.#log.get(space, NAMESPACES, '', namespace)?.metadata.labels
  }
}
