"""The app behind Airflow's own login: users see the steps of the DAGs that Airflow lets them read."""

from __future__ import annotations

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.core_api.security import GetUserDep
from airflow.configuration import AIRFLOW_HOME, conf
from fastapi import FastAPI, Request

from provspark.settings import SECTION, Settings
from provspark.web.app import create_app
from provspark.web.limits import Limits
from provspark.web.login import Viewer
from provspark.web.policy import Policy
from provspark.web.source import AnswerSource

__all__ = ["airflow_app"]


# GetUserDep must be a module-level name: if FastAPI could not resolve it, the routes would need no login.
def _login(request: Request, user: GetUserDep) -> None:
    dags = get_auth_manager().get_authorized_dag_ids(user=user, method="GET")
    request.state.provspark_viewer = Viewer(frozenset(dags), user.get_id())


def airflow_app() -> FastAPI:
    """Create the app from Airflow's configuration."""

    def setting(name: str) -> str | None:
        text: str | None = conf.get(SECTION, name, fallback=None)
        return text

    source = AnswerSource(lambda: Settings.read(airflow=True).url(), Policy.from_settings(setting))
    return create_app(source, _login, Limits.read(setting), f"airflow {AIRFLOW_HOME}", airflow=True)
