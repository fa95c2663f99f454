// The component that Airflow's plugin host loads; it gets the ids of the DAG, run and task where it is shown.
import { useEffect } from "react";
import { useLocation, useNavigate } from "react-router-dom";

import { App, type Where } from "./App";

let settled = false;

export default function Provenance(where: Where) {
  const location = useLocation();
  const navigate = useNavigate();
  // The host wraps a component on its first load, and drops the wrapper on the next navigation, which remounts the page
  // and loses focus and scroll position. Navigate at once, so that this happens before the user's first action.
  useEffect(() => {
    if (settled) return;
    settled = true;
    void navigate(location, { replace: true });
  }, [location, navigate]);
  return <App {...where} />;
}
