// What Airflow's plugin host loads: a component that takes the ids of the place it stands in.
import { useEffect } from "react";
import { useLocation, useNavigate } from "react-router-dom";

import { App, type Where } from "./App";

let settled = false;

export default function Provenance(where: Where) {
  const location = useLocation();
  const navigate = useNavigate();
  // The host shows a component that it has just loaded wrapped, and bare from the next change of the address on: that
  // would start the page anew, without focus or scroll, at the user's first step. It may as well happen right away.
  useEffect(() => {
    if (settled) return;
    settled = true;
    void navigate(location, { replace: true });
  }, [location, navigate]);
  return <App {...where} />;
}
