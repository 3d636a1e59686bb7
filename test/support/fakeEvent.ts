/** An event of a fake server's stream: its object is parsed on first use, shared by all readers, and frozen. */
import type { GroupVersionResource, KubeObject } from '../../src/apimachinery/object.ts'
import type { StreamEvent } from '../../src/client/client.ts'

export class FakeEvent implements StreamEvent {
  readonly type: StreamEvent['type']
  readonly space: string
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly #text: string
  #object: KubeObject | undefined

  constructor(
    type: StreamEvent['type'],
    { space, resource, object }: { space: string; resource: GroupVersionResource; object: KubeObject },
  ) {
    const { namespace = '', name = '', resourceVersion } = object.metadata
    this.type = type
    this.space = space
    this.resource = resource
    this.namespace = namespace
    this.name = name
    this.revision = Number(resourceVersion)
    this.#text = JSON.stringify(object)
  }

  get object(): KubeObject {
    this.#object ??= frozen(JSON.parse(this.#text) as KubeObject)
    return this.#object
  }

  mentions(text: string): boolean {
    return this.#text.includes(text)
  }
}

/** A reader that changes a shared object fails. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const child of Object.values(value)) frozen(child)
    Object.freeze(value)
  }
  return value
}
