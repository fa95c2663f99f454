// What Airflow's plugin host loads: a component that takes the ids of the place it stands in.
import { App, type Where } from "./App";

export default function Provenance(where: Where) {
  return <App {...where} />;
}
