import { Signal } from '../../../src/controllers/placement/signals/signals.ts'

/** A signal with one reader. */
export function signalTo<Fact extends readonly unknown[]>(reader: (...fact: NoInfer<Fact>) => unknown): Signal<Fact> {
  const signal = new Signal<Fact>()
  signal.on((...fact) => void reader(...fact))
  return signal
}
